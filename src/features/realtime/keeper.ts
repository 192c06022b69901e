/** The part in the keeper: client secrets that are not used yet. All workers share them. They end with the keeper. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { SecretBook } from "./secrets/book.ts";
import type { SecretDown, SecretUp } from "./secrets/messages.ts";

export function start(_host: KeeperHost): KeeperPart<SecretUp, SecretDown> {
  const book = new SecretBook();
  return {
    connect: (send) => ({
      receive: ({ number, ask }) => void send({ number, answer: book.answer(ask, Date.now()) }),
      ended() {},
    }),
  };
}
