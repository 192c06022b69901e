/** The gateway's way to the keeper. It does not load the code that opens a database. */
import { AnswerClient, type ClientOptions } from "./client.ts";
import type { KeeperSettings } from "./settings.ts";
import { socketLink } from "./socket-link.ts";
import { threadLink } from "./thread-link.ts";

/** A store whose keeper is a thread of this process, which `start` starts. */
export function keepInThread(settings: KeeperSettings, options: ClientOptions = {}): AnswerClient {
  return new AnswerClient(threadLink(settings), options);
}

/** A store whose keeper is another process. @param path path of its socket */
export function keepInProcess(path: string, options: ClientOptions = {}): AnswerClient {
  return new AnswerClient(socketLink(path), options);
}
