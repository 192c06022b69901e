/** The part in the keeper: it makes the secret of the marks with the first one, and tells it to the workers. */
import { Slot } from "../../core/slot.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { AdminError } from "../../operator/errors.ts";
import { makeMark, makeSecret } from "./mark.ts";

/** `up`: the worker has connected; `ready`: it reads marks. */
export type FromWorker = "up" | "ready";

export interface SecretMessage {
  secret: string;
}

/** Marks a call that sends another one again. @throws AdminError 503 if a worker does not read marks */
export type Mark = (id: string, now: number) => Promise<string>;

/** What the part offers to the operations. */
export const marks = new Slot<Mark>();

/** Longest wait for a worker. Milliseconds. */
const WAIT_MS = 5_000;

interface Peer {
  send(message: SecretMessage): void;
  readonly ready: PromiseWithResolvers<void>;
}

export function start(host: KeeperHost): KeeperPart<FromWorker, SecretMessage> {
  let secret: string | undefined;
  const peers = new Set<Peer>();
  marks.set(host.offers, async (id, now) => {
    if (secret === undefined) {
      secret = makeSecret();
      for (const { send } of peers) send({ secret });
    }
    await allReady(peers);
    return makeMark(secret, id, now);
  });
  return {
    connect(send) {
      const peer: Peer = { send, ready: Promise.withResolvers() };
      peers.add(peer);
      return {
        receive(said) {
          if (said === "ready") peer.ready.resolve();
          else if (secret !== undefined) send({ secret });
        },
        ended() {
          peers.delete(peer);
          peer.ready.resolve();
        },
      };
    },
  };
}

async function allReady(peers: ReadonlySet<Peer>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new AdminError(503, "gateway_failed", "A worker of the gateway does not answer.")),
    WAIT_MS,
  );
  await Promise.race([Promise.all([...peers].map(({ ready }) => ready.promise)), late]).finally(() =>
    clearTimeout(timer),
  );
}
