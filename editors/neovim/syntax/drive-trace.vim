" The server colours a trace. This hides what stands on every line and tells little, and the tails
" of ids.
if exists('b:current_syntax')
  finish
endif
syntax match driveTraceEnvelope conceal cchar=…
      \ /\v("(event_id|schema_version|project_run_id|orchestrator_agent_id)":("[^"\\]*"|null),)+/
syntax match driveTraceId conceal cchar=… /\v\x{8}\zs-\x{4}-\x{4}-\x{4}-\x{12}/
let b:current_syntax = 'drive-trace'
