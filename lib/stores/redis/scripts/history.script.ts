import { leaseScript } from './lease-script.js';

/**
 * The runs that are remembered of each job, newest first; writes nothing. A run that nobody holds the lease for has crashed.
 *
 * KEYS for each lease: lease, record, runs
 * ARGV: none
 * Reply for each lease: a list of texts: instant, state, token, started, ended or '-', missed, tag, holder
 */
export const historyScript = leaseScript({
  name: 'history',
  keys: ['lease', 'record', 'runs'],
  shared: [],
  args: [],
  each: `
  local all = call('LRANGE', runs, 0, 98)
  local run = call('HMGET', record, 'instant', 'state', 'owner', 'token', 'started', 'ended', 'missed', 'about')
  if not run[1] then return all end
  local value, how = call('GET', lease), run[2]
  if how == 'running' and not (value and string.match(value, '^%S*') == run[3]) then how = 'crashed' end
  table.insert(all, 1, table.concat({ run[1], how, run[4], run[5], run[6] or '-', run[7] or 0, run[8] }, ' '))
  return all`,
});
