local M = {}

local POLL_MS = 1000
local followed = {} -- whether a buffer's file is looked at
M.errors = {} -- how many findings are errors, by buffer and row

--- What is folded, as deep as it is nested: how many lines, and how many of their findings are errors.
function M.foldtext()
  local first, last = vim.v.foldstart, vim.v.foldend
  local depth, name = ('  '):rep(vim.v.foldlevel - 1), vim.lsp.foldtext()
  local text = ('%s▸ %s · %d lines'):format(depth, name, last - first + 1)
  local count, errors = 0, M.errors[vim.api.nvim_get_current_buf()] or {}
  for row = first - 1, last - 1 do count = count + (errors[row] or 0) end
  if count == 0 then return text end
  return { { text, 'Folded' }, { (' · %d error%s'):format(count, count == 1 and '' or 's'), 'DiagnosticError' } }
end

--- How many columns every window on a buffer has for its text.
function M.columns(buffer)
  local columns = math.huge
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    columns = math.min(columns, info.width - info.textoff)
  end
  return columns
end

--- A text as virtual lines of at most so many columns.
function M.wrapped(text, columns, group)
  local lines, line = {}, nil
  for word in text:gmatch('%S+') do
    local longer = line and line .. ' ' .. word or word
    if line and #longer > columns and vim.fn.strdisplaywidth(longer) > columns then
      table.insert(lines, { { line, group } })
      longer = '  ' .. word
    end
    line = longer
  end
  table.insert(lines, { { line or '', group } })
  return lines
end

--- Reads a trace again when its file grows. A cursor on the last line stays on the last line.
--- What somebody has changed is left alone: Neovim asks about it when they write it.
function M.follow(buffer)
  if followed[buffer] then return end
  local poll = assert(vim.uv.new_fs_poll())
  followed[buffer] = true
  local function stop(left)
    vim.api.nvim_del_autocmd(left.id)
    followed[buffer] = nil
    poll:close()
  end
  local function read()
    if not followed[buffer] or vim.bo[buffer].modified or not vim.o.autoread then return end
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
  -- What was appended before the first look at the file is no change to those after it.
  vim.defer_fn(read, POLL_MS)
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufFilePost' }, { buffer = buffer, callback = stop })
end

--- Shows the lens over the first line, if a window shows that line.
--- See https://github.com/neovim/neovim/issues/16166.
function M.show_top(window)
  vim.api.nvim_win_call(window, function()
    if vim.bo.filetype == 'drive-trace' and vim.fn.line('w0') == 1 then
      local above = vim.api.nvim_win_text_height(window, { start_row = 0, end_row = 0 }).fill
      vim.fn.winrestview({ topfill = above })
    end
  end)
end

--- Offers the grades that can be recorded for the run under the cursor. No menu of code actions has
--- them, as who takes the first action there must not grade a run.
function M.record(options)
  local context = { only = { 'refactor.driveTrace.record' }, diagnostics = {} }
  vim.lsp.buf.code_action(vim.tbl_extend('force', { context = context }, options or {}))
end

--- Scrolls until a window shows the cursor's line, what is drawn over it, and the lines below it
--- that are drawn. Neovim does not, where these come later than the line.
function M.show_cursor(window, below)
  vim.api.nvim_win_call(window, function()
    local top, at = vim.fn.line('w0'), vim.fn.line('.')
    local function rows()
      return vim.api.nvim_win_text_height(window, { start_row = top - 1, end_row = at - 1 }).all
    end
    while top < at and rows() + below > vim.fn.winheight(window) do
      top = top + 1
      vim.fn.winrestview({ topline = top })
    end
  end)
end

return M
