-- An event a line: lines are long, and are read from their start.
vim.opt_local.wrap = false
vim.opt_local.signcolumn = 'yes'
vim.opt_local.conceallevel = 2
vim.opt_local.concealcursor = 'nc'
-- Slices, dispatches and rounds can be folded (zc, zo).
vim.opt_local.foldmethod = 'expr'
vim.opt_local.foldexpr = 'v:lua.vim.lsp.foldexpr()'
vim.opt_local.foldtext = 'v:lua.require("drive_trace").foldtext()'
vim.opt_local.foldlevel = 99
-- Nothing is completed until you pick it (<C-n>, <C-y>).
vim.opt_local.completeopt = 'menuone,noselect,popup'
vim.b.undo_ftplugin = 'setlocal wrap< signcolumn< conceallevel< concealcursor< foldmethod< foldexpr<'
  .. ' foldtext< foldlevel< completeopt<'

require('drive_trace').follow(vim.api.nvim_get_current_buf())
