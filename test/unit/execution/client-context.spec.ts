import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { ClientContext } from '../../../lib/execution/client-context.js';

class Response extends EventEmitter {
  destroyed = false;
  writableFinished = false;
}

describe('the signal of a client', () => {
  it('aborts when the connection closes before the answer is out', () => {
    const response = new Response();
    const { signal } = new ClientContext().signalOf(response);
    expect(signal.aborted).toBe(false);
    response.emit('close');
    expect(signal.aborted).toBe(true);
  });

  it('is aborted at once where the client has gone already', () => {
    const response = Object.assign(new Response(), { destroyed: true });
    expect(new ClientContext().signalOf(response).signal.aborted).toBe(true);
  });

  it.each([true, false])(
    'does not abort once the client has been answered (destroyed: %s): what the handler left running may wait on',
    (destroyed) => {
      const response = Object.assign(new Response(), { destroyed, writableFinished: true });
      const { signal } = new ClientContext().signalOf(response);
      response.emit('close');
      expect(signal.aborted).toBe(false);
    },
  );

  it('leaves no listener behind', () => {
    const response = new Response();
    new ClientContext().signalOf(response).unlink();
    expect(response.listenerCount('close')).toBe(0);
  });
});
