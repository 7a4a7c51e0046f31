-- Lenses in Neovim 0.11, as 0.12 has them: they follow the text, and stand over their line.

local drawn = vim.api.nvim_create_namespace('drive_trace.lenses')
local asked = {} -- how often lenses were asked for, by buffer

local function is_ours(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.name == 'drive_trace'
end

--- Scrolls as far as a lens has pushed the cursor's line out of the window.
local function show_cursor()
  local top, at = vim.fn.line('w0'), vim.fn.line('.')
  local function rows() return vim.api.nvim_win_text_height(0, { start_row = top - 1, end_row = at - 1 }).all end
  while top < at and rows() > vim.fn.winheight(0) do
    top = top + 1
    vim.fn.winrestview({ topline = top })
  end
end

local function draw(lenses, buffer, id)
  vim.api.nvim_buf_clear_namespace(buffer, vim.api.nvim_create_namespace('nvim.lsp.codelens:' .. id), 0, -1)
  vim.api.nvim_buf_clear_namespace(buffer, drawn, 0, -1)
  local over = {}
  for _, lens in ipairs(lenses) do
    local row = lens.range.start.line
    local chunks = over[row] or {}
    if #chunks > 0 then table.insert(chunks, { ' | ', 'LspCodeLensSeparator' }) end
    table.insert(chunks, { lens.command.title, 'LspCodeLens' })
    over[row] = chunks
  end
  for row, chunks in pairs(over) do
    local mark = { virt_lines = { chunks }, virt_lines_above = true, strict = false }
    vim.api.nvim_buf_set_extmark(buffer, drawn, row, 0, mark)
  end
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if over[0] then require('drive_trace').show_top(window) end
    vim.api.nvim_win_call(window, show_cursor)
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
