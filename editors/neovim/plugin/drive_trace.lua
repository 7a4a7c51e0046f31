if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('drive-trace needs Neovim 0.11 or newer', vim.log.levels.WARN)
  return
end

local group = vim.api.nvim_create_augroup('drive_trace', {})

vim.api.nvim_set_hl(0, '@lsp.mod.envelope.drive-trace', { link = 'Comment', default = true })
require('drive_trace.findings')

vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  callback = function(attached)
    local client, buffer = vim.lsp.get_client_by_id(attached.data.client_id), attached.buf
    if not client or client.name ~= 'drive_trace' then return end
    vim.lsp.completion.enable(true, client.id, buffer, { autotrigger = true })
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    local function record() require('drive_trace').record() end
    vim.api.nvim_buf_create_user_command(buffer, 'DriveTraceRecord', record, { desc = 'Record a grade of the run' })
    if vim.lsp.codelens.enable then
      vim.lsp.codelens.enable(true, { bufnr = buffer })
    end
  end,
})

-- The first line's lens is above the window's top when one comes back to the start of the trace.
vim.api.nvim_create_autocmd('WinScrolled', {
  group = group,
  callback = function()
    for window, moved in pairs(vim.v.event) do
      window = tonumber(window)
      if window and moved.topline < 0 then require('drive_trace').show_top(window) end
    end
  end,
})

if not vim.lsp.codelens.enable then require('drive_trace.lenses') end
vim.lsp.enable('drive_trace')
