/** The gateway's way to the keeper. It does not load the code that opens a database. */
import { KeeperClient, type KeeperClientOptions } from "./client.ts";
import type { KeeperSettings } from "./settings.ts";
import { socketLink } from "./socket-link.ts";
import { threadLink } from "./thread-link.ts";

/** A keeper in a thread of this process, which `start` starts. */
export function keepInThread(settings: KeeperSettings, options: KeeperClientOptions = {}): KeeperClient {
  return new KeeperClient(threadLink(settings), options);
}

/** A keeper in another process. @param path path of its socket */
export function keepInProcess(path: string, options: KeeperClientOptions = {}): KeeperClient {
  return new KeeperClient(socketLink(path), options);
}
