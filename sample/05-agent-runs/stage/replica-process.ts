import { runChild } from '../../common/child.js';
import type { AgentService } from '../app/agent.service.js';
import { bootReplica } from './replica.js';

interface Settings {
  readonly name: string;
  readonly redisUrl: string;
  readonly namespace: string;
}

let agent: AgentService;

await runChild<Settings>({ resume: (thread: string) => agent.resume(thread) }, async ({ name, redisUrl, namespace }, parent) => {
  agent = await bootReplica(name, { connection: redisUrl, namespace }, (verb, ...args) => parent.call(verb, ...args));
});
