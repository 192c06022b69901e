/** The gateway's way to the keeper. It does not load the code that opens a database. */
import { KeeperClient, type KeeperClientOptions } from "./client.ts";
import type { KeeperSettings } from "./settings.ts";
import { socketLink } from "./socket-link.ts";
import { threadLink } from "./thread-link.ts";

/**
 * A keeper in a thread of this process, which `start` starts.
 * @param after the thread does not run before that; messages wait for it
 */
export function keepInThread(
  settings: KeeperSettings,
  options: KeeperClientOptions = {},
  after?: Promise<void>,
): KeeperClient {
  return new KeeperClient(threadLink(settings, after), options);
}

/** A keeper in another process. @param path path of its socket */
export function keepInProcess(path: string, options: KeeperClientOptions = {}): KeeperClient {
  return new KeeperClient(socketLink(path), options);
}

/** The keeper of this process ends for one in another process. @param path path of its socket, which need not be there yet */
export function passToProcess(client: KeeperClient, path: string): Promise<void> {
  return client.relink(socketLink(path));
}

/** The reverse of {@link passToProcess}. */
export function takeBack(client: KeeperClient, settings: KeeperSettings): Promise<void> {
  return client.relink(threadLink(settings));
}
