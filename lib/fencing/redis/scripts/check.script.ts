/**
 * Beginning of every fenced script. It checks and raises the fence, or returns; a write follows it. The fence goes first: when
 * the write then fails, only older holders are shut out, never a newer one let down.
 *
 * KEYS[1]  the fence: a string `token:holderTag`
 * ARGV[1]  fencing token
 * ARGV[2]  holder tag
 * ARGV[3]  how long the fence is remembered, in ms
 * Reply, where it ends here: `{'stale', token}` (a newer holder was accepted), `{'foreign'}` (the fence key holds something else)
 */
export const CHECK = `
local fence = redis.pcall('GET', KEYS[1])
if type(fence) == 'table' and fence.err then return {'foreign'} end
if fence then
  local token, tag = string.match(fence, '^(%d+):(.*)$')
  if not token then return {'foreign'} end
  local mine, last = tonumber(ARGV[1]), tonumber(token)
  if mine < last or (mine == last and tag ~= ARGV[2]) then return {'stale', token} end
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
`;
