/**
 * Sets the locals `run`, which names this life of the server, and `uptime` (seconds, a number): -1 where the server refuses INFO or
 * does not say. Asked inside the script, so that no restart can come between the question and what the script has done.
 */
export const RUN_AND_UPTIME = `
  local run, uptime
  local info = try('INFO', 'server')
  if type(info) == 'string' then
    run, uptime = string.match(info, 'run_id:(%w+)'), tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  end
  run, uptime = run or '', run and uptime or -1`;
