/** Prepares the path of a unix socket: removes a socket file that an ended process left behind. */
import { lstatSync, type Stats, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { describeFileError, systemCode } from "../core/system-error.ts";

/** Maximum time for an existing socket to answer. Milliseconds. */
const ANSWER_MS = 1_000;

/** @throws Error with one sentence if the path is not a socket, or if a process still listens on it */
export async function makeRoom(path: string): Promise<void> {
  const there = look(path);
  if (!there) return;
  if (!there.isSocket())
    throw new Error(`${path} already exists and is not a socket; choose another path for listen.unix`);
  if (await isListening(path))
    throw new Error(`the socket ${path} is in use by another process; stop it or choose another path`);
  unlinkSync(path);
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new Error(`weir cannot create the socket ${path} (${describeFileError(error)})`);
  }
}

/** Only a refused connection proves that no process listens. Any other error counts as a listening process. */
function isListening(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  const timer = setTimeout(() => resolve(true), ANSWER_MS);
  socket.on("connect", () => resolve(true));
  socket.on("error", (error) => resolve(!["ECONNREFUSED", "ENOENT"].includes(systemCode(error) ?? "")));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
