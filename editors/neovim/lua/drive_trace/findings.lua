-- Findings below their line, wrapped to the window. What Neovim shows of them, behind the line or
-- below the token, is off the screen where lines are long.

local ours = require('drive_trace')
local namespace_of = vim.defaulttable(function(source)
  return vim.api.nvim_create_namespace('drive_trace.findings:' .. source)
end)
-- What other plugins find in a trace is shown as they say, there and in other files.
local function is_ours(source)
  return vim.diagnostic.get_namespace(source).name:find('lsp.drive_trace.', 1, true) ~= nil
end
local SEVERITIES = { 'Error', 'Warn', 'Info', 'Hint' }

vim.diagnostic.handlers.drive_trace = {
  show = function(source, buffer, diagnostics, options)
    if vim.bo[buffer].filetype ~= 'drive-trace' or not is_ours(source) then return end
    -- Findings that went when one types would move the text.
    if options.virtual_text or options.virtual_lines or not options.update_in_insert then
      local instead = { virtual_text = false, virtual_lines = false, update_in_insert = true }
      vim.schedule(function() vim.diagnostic.config(instead, source) end)
    end
    local columns, below, errors = ours.columns(buffer), {}, {}
    for _, each in ipairs(diagnostics) do
      local group = 'DiagnosticVirtualText' .. SEVERITIES[each.severity]
      local lines = ours.wrapped('╰ ' .. each.message, columns, group)
      below[each.lnum] = vim.list_extend(below[each.lnum] or {}, lines)
      if each.severity == vim.diagnostic.severity.ERROR then errors[each.lnum] = (errors[each.lnum] or 0) + 1 end
    end
    ours.errors[buffer] = errors
    for row, lines in pairs(below) do
      local mark = { virt_lines = lines, strict = false }
      vim.api.nvim_buf_set_extmark(buffer, namespace_of[source], row, 0, mark)
    end
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      local here = below[vim.api.nvim_win_get_cursor(window)[1] - 1]
      if here then ours.show_cursor(window, #here) end
    end
  end,
  hide = function(source, buffer)
    if not is_ours(source) then return end
    ours.errors[buffer] = nil
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, namespace_of[source], 0, -1)
    end
  end,
}

vim.api.nvim_create_autocmd('WinResized', {
  group = 'drive_trace',
  callback = function()
    for _, window in ipairs(vim.v.event.windows) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].filetype == 'drive-trace' then vim.diagnostic.show(nil, buffer) end
    end
  end,
})
