/** The file of a unix socket before it is listened on: one that a process has left behind is removed. */
import { lstatSync, type Stats, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { describeFileError, systemCode } from "./core/system-error.ts";

/** Longest wait for an answer at a socket that is there already. Milliseconds. */
const ANSWER_MS = 1_000;

/** @throws Error with one sentence when something else is there, or a process still listens. */
export async function makeRoom(path: string): Promise<void> {
  const there = look(path);
  if (!there) return;
  if (!there.isSocket())
    throw new Error(`${path} is there already and is no socket; choose another path for listen.unix`);
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

/** Only a refused connection says that no process listens: whatever else goes wrong, one may. */
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
