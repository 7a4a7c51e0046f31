-- Lenses in Neovim 0.11, as 0.12 has them: they follow the text, and stand over their line.

local ours = require('drive_trace')
local drawn = vim.api.nvim_create_namespace('drive_trace.lenses')
local asked = {} -- how often lenses were asked for, by buffer

-- `LspCodeLens` is hardly legible in the default colours, and a verdict is a title.
vim.api.nvim_set_hl(0, 'DriveTraceLens', { link = 'Title', default = true })

local function is_ours(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.name == 'drive_trace'
end

local function draw(lenses, buffer, id)
  vim.api.nvim_buf_clear_namespace(buffer, vim.api.nvim_create_namespace('nvim.lsp.codelens:' .. id), 0, -1)
  vim.api.nvim_buf_clear_namespace(buffer, drawn, 0, -1)
  local columns, over = ours.columns(buffer), vim.defaulttable()
  for _, lens in ipairs(lenses) do
    local shown = ours.wrapped(lens.command.title, columns, 'DriveTraceLens')
    vim.list_extend(over[lens.range.start.line], shown)
  end
  for row, lines in pairs(over) do
    local mark = { virt_lines = lines, virt_lines_above = true, strict = false }
    vim.api.nvim_buf_set_extmark(buffer, drawn, row, 0, mark)
  end
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    ours.show_top(window)
    ours.show_cursor(window, 0)
  end
end

-- Neovim shows by this, too, after a lens was run, or where a set-up asks for lenses by itself.
local display = vim.lsp.codelens.display
function vim.lsp.codelens.display(lenses, buffer, id)
  if not is_ours(id) then return display(lenses, buffer, id) end
  local are_ready = vim.iter(lenses or {}):all(function(lens) return lens.command end)
  if are_ready and vim.api.nvim_buf_is_loaded(buffer) then draw(lenses or {}, buffer, id) end
end

-- `vim.lsp.codelens.refresh` drops a request while an earlier one is running.
local function refresh(client, buffer)
  asked[buffer] = (asked[buffer] or 0) + 1
  local time = asked[buffer]
  local function show(lenses)
    if time ~= asked[buffer] then return end
    vim.lsp.codelens.save(lenses, buffer, client.id)
    vim.lsp.codelens.display(lenses, buffer, client.id)
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  client:request('textDocument/codeLens', params, function(problem, lenses)
    if problem then return end
    local missing = #lenses
    if missing == 0 then show(lenses) end
    for _, lens in ipairs(lenses) do
      client:request('codeLens/resolve', lens, function(_, resolved)
        lens.command = resolved and resolved.command
        missing = missing - 1
        if missing == 0 then show(lenses) end
      end, buffer)
    end
  end, buffer)
end

vim.lsp.config('drive_trace', {
  capabilities = { workspace = { codeLens = { refreshSupport = true } } },
  handlers = {
    ['workspace/codeLens/refresh'] = function(_, _, context)
      local client = assert(vim.lsp.get_client_by_id(context.client_id))
      for buffer in pairs(client.attached_buffers) do refresh(client, buffer) end
      return vim.NIL
    end,
  },
})

vim.api.nvim_create_autocmd('LspNotify', {
  group = 'drive_trace',
  callback = function(sent)
    local method, id = sent.data.method, sent.data.client_id
    if (method == 'textDocument/didOpen' or method == 'textDocument/didChange') and is_ours(id) then
      refresh(vim.lsp.get_client_by_id(id), sent.buf)
    end
  end,
})

vim.api.nvim_create_autocmd('WinResized', {
  group = 'drive_trace',
  callback = function()
    for _, window in ipairs(vim.v.event.windows) do
      local buffer = vim.api.nvim_win_get_buf(window)
      for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer, name = 'drive_trace' })) do
        refresh(client, buffer)
      end
    end
  end,
})

vim.api.nvim_create_autocmd('LspDetach', {
  group = 'drive_trace',
  callback = function(left)
    if is_ours(left.data.client_id) then vim.api.nvim_buf_clear_namespace(left.buf, drawn, 0, -1) end
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  group = 'drive_trace',
  callback = function(attached)
    if is_ours(attached.data.client_id) then
      vim.keymap.set('n', 'grx', vim.lsp.codelens.run, { buffer = attached.buf, desc = 'Run the lens' })
    end
  end,
})
