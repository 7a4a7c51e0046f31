vim.filetype.add({
  filename = { ['trace.jsonl'] = 'drive-trace' },
  pattern = { ['.*/wip/drive%-trace/.*%.jsonl'] = 'drive-trace' },
})
