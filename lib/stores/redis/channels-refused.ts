import type { Notices } from './notices.js';
import { messageOf } from './redis-errors.js';

/** Redis lets this user not send or hear hand-over notices on `channels` (a pattern); told once. */
export function warnOfChannels(notices: Notices, channels: string, command: string, error: unknown): void {
  notices.warn(
    'channels',
    `Redis refuses ${command} (${messageOf(error)}): who waits for a lease looks several times a second instead of being told. ` +
      `Allow the channels "${channels}" to this user, for waits that cost less and end sooner.`,
  );
}
