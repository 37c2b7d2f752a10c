import { runChild } from '../../common/child.js';
import { RemoteBoard } from './board.js';
import { bootReplica } from './replica.js';

interface Settings {
  readonly name: string;
  readonly redisUrl: string;
  readonly namespace: string;
}

await runChild<Settings>({}, ({ name, redisUrl, namespace }, parent) =>
  bootReplica({ connection: redisUrl, namespace, holder: name }, new RemoteBoard(name, parent), (jobId, token) =>
    parent.call('begun', jobId, token),
  ),
);
