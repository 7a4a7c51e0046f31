---@brief
---
--- Drive Trace checks and scores the `trace.jsonl` files of Drive runs.
---
--- The server is the command `drive-trace`, as a checkout's `pipx install .` installs it.

local known = vim.lsp.protocol.make_client_capabilities()
local modifiers = known.textDocument.semanticTokens.tokenModifiers

---@type vim.lsp.Config
return {
  cmd = { 'drive-trace', 'serve' },
  filetypes = { 'drive-trace' },
  root_markers = { '.git', 'drive-trace.toml' },
  capabilities = {
    -- What stands on every line has a modifier of its own.
    textDocument = { semanticTokens = { tokenModifiers = vim.list_extend({ 'envelope' }, modifiers) } },
  },
}
