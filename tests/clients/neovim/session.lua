-- Plays the steps of a story in this Neovim and writes down what it shows, for test_sessions.py.
-- The story runs in the editor's own loop: typed keys and autocommands work as for a person.

local patience = 20000 -- milliseconds for anything that is waited for
local story -- the coroutine that plays it
local buffer -- the trace
local exited -- how the server ended, as Neovim saw it

-- All else of the client is as docs/editors.md sets it up.
vim.lsp.config('drive_trace', {
  on_exit = function(code, signal) exited = { code = code, signal = signal } end,
})

-- Lets the editor go on until the condition holds or patience ends; tells whether it holds.
local function wait(condition)
  local deadline = vim.uv.now() + patience
  while not condition() do
    if vim.uv.now() > deadline then return false end
    vim.defer_fn(function() coroutine.resume(story) end, 10)
    coroutine.yield()
  end
  return true
end

local function await(what, condition)
  if not wait(condition) then error('still waiting for ' .. what, 0) end
end

local function client() return vim.lsp.get_clients({ name = 'drive_trace' })[1] end

-- What stands there; until the server has answered, an old place may lie beyond the text.
local function text(...)
  local there, lines = pcall(vim.api.nvim_buf_get_text, buffer, ...)
  return there and table.concat(lines, '\n') or '(beyond the text)'
end

-- Everything of a kind that Neovim draws on the text, in its order.
local function marks(kind)
  return vim.api.nvim_buf_get_extmarks(buffer, -1, 0, -1, { details = true, type = kind })
end

local function highlighted(group)
  local found = {}
  for _, mark in ipairs(marks('highlight')) do
    local row, column, details = mark[2], mark[3], mark[4]
    if vim.startswith(details.hl_group, group) then
      table.insert(found, text(row, column, details.end_row, details.end_col, {}))
    end
  end
  return found
end

local function diagnostics()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, {
      code = each.code,
      line = each.lnum + 1,
      message = each.message,
      severity = vim.diagnostic.severity[each.severity]:lower(),
      text = text(each.lnum, each.col, each.end_lnum, each.end_col, {}),
    })
  end
  return found
end

local function lenses()
  local found = {}
  for _, mark in ipairs(marks('virt_lines')) do
    for _, line in ipairs(mark[4].virt_lines) do
      local text, group = unpack(line[1])
      if group == 'DriveTraceLens' and vim.startswith(text, '  ') then
        found[#found].title = found[#found].title .. text:sub(2)
      elseif group == 'DriveTraceLens' then
        table.insert(found, { line = mark[2] + 1, title = text })
      end
    end
  end
  return found
end

local function screen()
  vim.cmd.redraw()
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
    rows[row] = vim.fn.trim(table.concat(cells), '', 2)
  end
  return rows
end

local function place_cursor(token)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  assert(vim.fn.search('\\V' .. vim.fn.escape(token, '\\'), 'cW') > 0, token .. ' is not there')
end

local function press(keys) vim.api.nvim_input(keys) end

local function literally(keys) return (keys:gsub('<', '<lt>')) end

local function changed_by(keys)
  local before = vim.api.nvim_buf_get_changedtick(buffer)
  press(keys .. '<Esc>')
  await('typing to end', function()
    return vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_buf_get_changedtick(buffer) > before
  end)
end

local function pluck(list, key)
  return vim.tbl_map(function(each) return each[key] end, list)
end

local steps = {}

function steps.open(file)
  vim.cmd.edit(vim.fn.fnameescape(file))
  buffer = vim.api.nvim_get_current_buf()
  await('the server', function() return client() and client().initialized end)
  local function first() return (vim.lsp.semantic_tokens.get_at_pos(buffer, 0, 2) or {})[1] end
  await('the colours', first)
  return { mode = vim.bo.filetype, dimmed = first().modifiers.envelope }
end

-- Both what Neovim stores and what it underlines have to be on those texts. Underlines move with
-- the text by themselves; what is stored does not, so it tells that the server has answered.
function steps.diagnostics(texts)
  wait(function()
    return vim.deep_equal(pluck(diagnostics(), 'text'), texts)
      and vim.deep_equal(highlighted('DiagnosticUnderline'), texts)
  end)
  return { shown = diagnostics(), underlined = highlighted('DiagnosticUnderline') }
end

function steps.hover(token)
  place_cursor(token)
  press('K')
  local window
  await('the hover', function()
    window = vim.b[buffer].lsp_floating_preview
    return window and vim.api.nvim_win_is_valid(window)
  end)
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
  local about = highlighted('LspReferenceTarget')
  vim.api.nvim_win_close(window, true)
  return { text = table.concat(lines, '\n'), about = about }
end

function steps.lenses(titles)
  wait(function() return vim.deep_equal(pluck(lenses(), 'title'), titles) end)
  return { shown = lenses() }
end

function steps.run_lens(line)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  press('grx')
  await('the page', function() return vim.api.nvim_get_current_buf() ~= buffer end)
  local page = { text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') }
  vim.api.nvim_set_current_buf(buffer)
  return page
end

function steps.definition(token)
  place_cursor(token)
  press('<C-]>')
  await('the file', function() return vim.api.nvim_get_current_buf() ~= buffer end)
  local file = vim.fn.expand('%:.')
  vim.api.nvim_set_current_buf(buffer)
  return { file = file }
end

-- What somebody else writes at the end of the file.
function steps.append(text)
  vim.fn.writefile(vim.split(text, '\n'), vim.api.nvim_buf_get_name(buffer), 'ab')
  return vim.empty_dict()
end

-- What the terminal shows, once these texts are among it.
function steps.screen(columns, rows, keys, texts)
  vim.o.columns, vim.o.lines = columns, rows
  press(keys)
  wait(function()
    local shown = table.concat(screen(), '\n')
    return vim.iter(texts):all(function(text) return shown:find(text, 1, true) end)
  end)
  return { rows = screen() }
end

function steps.type_before(token, typed)
  place_cursor(token)
  changed_by('i' .. literally(typed))
  return { line = vim.api.nvim_get_current_line() }
end

function steps.type_over(token, typed)
  place_cursor(token)
  changed_by('c' .. vim.fn.strchars(token) .. 'l' .. literally(typed))
  return { line = vim.api.nvim_get_current_line() }
end

-- What is offered on a new line at the end; the line goes again.
function steps.complete()
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buffer), 0 })
  press('o<C-x><C-o>')
  await('the completions', function() return vim.fn.pumvisible() == 1 end)
  local items = pluck(vim.fn.complete_info({ 'items' }).items, 'abbr')
  press('<C-e><Esc>u')
  await('the line to go', function()
    return vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_buf_get_lines(buffer, -2, -1, true)[1] ~= ''
  end)
  return { offered = items }
end

-- Picks a code action by its title, as the menu of code actions would.
function steps.act(token, title)
  place_cursor(token)
  local before = vim.api.nvim_buf_get_changedtick(buffer)
  local pick = title:find('^Record ') and require('drive_trace').record or vim.lsp.buf.code_action
  pick({ filter = function(action) return action.title == title end, apply = true })
  await(title, function() return vim.api.nvim_buf_get_changedtick(buffer) > before end)
  return { line = vim.api.nvim_get_current_line(), last = vim.api.nvim_buf_get_lines(buffer, -2, -1, true)[1] }
end

-- What the file holds after it is saved, its last newline as well. Where it has changed since it was
-- read, Neovim asks whether to write it. The answer is no, and then it is saved again.
function steps.save()
  await('the file to be written', function()
    press('n')
    pcall(vim.cmd.write)
    while vim.fn.getchar(0) ~= 0 do end -- nobody has asked
    return not vim.bo[buffer].modified
  end)
  return { text = table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(buffer), 'b'), '\n') }
end

-- Takes changes back, or makes them again, by a key.
function steps.change_by(keys)
  local before = vim.api.nvim_buf_get_changedtick(buffer)
  press(keys)
  await('another text', function() return vim.api.nvim_buf_get_changedtick(buffer) > before end)
  return vim.empty_dict()
end

function steps.set(option)
  vim.cmd.set(option)
  return vim.empty_dict()
end

-- What somebody else writes in place of the file, as git and check --fix do.
function steps.rewrite(text)
  local file = vim.api.nvim_buf_get_name(buffer)
  vim.fn.writefile(vim.split(text, '\n'), file .. '.new', 'b')
  assert(vim.uv.fs_rename(file .. '.new', file))
  return vim.empty_dict()
end

function steps.read(text)
  await(text, function() return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)):find(text, 1, true) end)
  return vim.empty_dict()
end

-- Neovim keeps what can be undone, and the trace is opened again.
function steps.close_and_open()
  local file = vim.api.nvim_buf_get_name(buffer)
  vim.cmd.bwipeout()
  return steps.open(file)
end

-- What another plugin finds in the trace, and whether it stands behind the line, as it asks for.
function steps.lint(message)
  local linter, is_later = vim.api.nvim_create_namespace('a linter'), false
  vim.diagnostic.config({ virtual_text = true }, linter)
  vim.diagnostic.set(linter, buffer, { { lnum = 0, col = 0, message = message, severity = 2 } })
  vim.schedule(function() is_later = true end)
  await('what that leads to', function() return is_later end)
  local texts = vim.tbl_map(function(mark) return vim.inspect(mark[4].virt_text) end, marks('virt_text'))
  return { is_behind = table.concat(texts):find(message, 1, true) ~= nil }
end

-- Goes on with the trace under another name, and reads it again.
function steps.save_as(file)
  vim.cmd.saveas(file)
  vim.cmd.edit()
  return vim.empty_dict()
end

-- An editor that quits does not wait for the server, so this asks it to end first.
function steps.quit()
  client():stop()
  await('the end of the server', function() return exited end)
  return exited
end

-- As most people do: the story ends, and so does the editor.
function steps.quit_at_once() return vim.empty_dict() end

-- What Neovim noted about the server, its standard error included.
local function log()
  local file = vim.lsp.get_log_path()
  local lines = vim.fn.filereadable(file) == 1 and vim.fn.readfile(file) or {}
  local noted = vim.tbl_filter(function(line) return not vim.startswith(line, '[START]') end, lines)
  return table.concat(noted, '\n')
end

local report = { steps = {} }

local function play()
  local wanted = vim.json.decode(table.concat(vim.fn.readfile(vim.env.DRIVE_TRACE_STORY), '\n'))
  for _, step in ipairs(wanted) do
    table.insert(report.steps, steps[step[1]](unpack(step, 2)))
  end
end

story = coroutine.create(function()
  local fine, problem = xpcall(play, debug.traceback)
  if not fine then report.problem = problem end
  report.messages, report.log = vim.fn.execute('messages'), log()
  vim.fn.writefile({ vim.json.encode(report) }, vim.env.DRIVE_TRACE_REPORT)
  vim.cmd(fine and 'qall!' or 'cquit')
end)

vim.schedule(function() coroutine.resume(story) end)
