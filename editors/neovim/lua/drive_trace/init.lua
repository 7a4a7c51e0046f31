local M = {}

local POLL_MS = 1000

--- What is folded, as deep as it is nested: how many lines, and how many of their findings are errors.
function M.foldtext()
  local first, last = vim.v.foldstart, vim.v.foldend
  local depth, name = ('  '):rep(vim.v.foldlevel - 1), vim.lsp.foldtext()
  local text = ('%s▸ %s · %d lines'):format(depth, name, last - first + 1)
  local errors = vim.iter(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }))
  local here = errors:filter(function(each) return each.lnum >= first - 1 and each.lnum < last end)
  local count = #here:totable()
  if count == 0 then return text end
  return { { text, 'Folded' }, { (' · %d error%s'):format(count, count == 1 and '' or 's'), 'DiagnosticError' } }
end

--- Reads a trace again when its file grows. A cursor on the last line stays on the last line.
--- What somebody has changed is left alone: Neovim asks about it when they write it.
function M.follow(buffer)
  local poll = vim.uv.new_fs_poll()
  local function stop()
    poll:stop()
    if not poll:is_closing() then poll:close() end
  end
  local function read()
    if not vim.api.nvim_buf_is_loaded(buffer) or vim.bo[buffer].modified then return end
    local last = vim.api.nvim_buf_line_count(buffer)
    -- Without this event the windows keep their options, and what is folded stays folded.
    local ignored = vim.o.eventignore
    vim.o.eventignore = 'FileType'
    pcall(vim.cmd.checktime, buffer)
    vim.o.eventignore = ignored
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      if vim.api.nvim_win_get_cursor(window)[1] == last then
        vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
      end
    end
  end
  poll:start(vim.api.nvim_buf_get_name(buffer), POLL_MS, vim.schedule_wrap(read))
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufFilePost' }, { buffer = buffer, once = true, callback = stop })
end

--- Shows the lens over the first line, if a window shows that line.
--- See https://github.com/neovim/neovim/issues/16166.
function M.show_top(window)
  vim.api.nvim_win_call(window, function()
    if vim.bo.filetype == 'drive-trace' and vim.fn.line('w0') == 1 then
      vim.fn.winrestview({ topfill = 1 })
    end
  end)
end

return M
