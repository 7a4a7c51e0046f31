-- Findings below their line, wrapped to the window. What Neovim shows of them, behind the line or
-- below the token, is off the screen where lines are long.

local namespace_of = vim.defaulttable(function(source)
  return vim.api.nvim_create_namespace('drive_trace.findings:' .. source)
end)
local SEVERITIES = { 'Error', 'Warn', 'Info', 'Hint' }

--- Columns that all windows on a buffer have for text.
local function width_of(buffer)
  local width = 1000
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

local function wrapped(text, width)
  local lines = {}
  for word in text:gmatch('%S+') do
    local longer = #lines > 0 and lines[#lines] .. ' ' .. word or '╰ ' .. word
    if #lines > 0 and vim.fn.strdisplaywidth(longer) > width then
      table.insert(lines, '  ' .. word)
    else
      lines[math.max(#lines, 1)] = longer
    end
  end
  return lines
end

vim.diagnostic.handlers.drive_trace = {
  show = function(source, buffer, diagnostics, options)
    if vim.bo[buffer].filetype ~= 'drive-trace' then return end
    if options.virtual_text or options.virtual_lines then
      vim.schedule(function() vim.diagnostic.config({ virtual_text = false, virtual_lines = false }, source) end)
    end
    local width, below = width_of(buffer), {}
    for _, each in ipairs(diagnostics) do
      below[each.lnum] = below[each.lnum] or {}
      for _, text in ipairs(wrapped(each.message, width)) do
        table.insert(below[each.lnum], { { text, 'DiagnosticVirtualText' .. SEVERITIES[each.severity] } })
      end
    end
    for row, lines in pairs(below) do
      vim.api.nvim_buf_set_extmark(buffer, namespace_of[source], row, 0, { virt_lines = lines, strict = false })
    end
  end,
  hide = function(source, buffer)
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
