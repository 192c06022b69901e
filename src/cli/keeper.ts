/** The process of the keeper, a child of the supervisor: its life from its own side. */
import { exitProcess } from "../process/exit.ts";
import { shrinkAfterStart } from "../process/shrink.ts";
import { steer } from "../process/steering.ts";
import { Door } from "../admin/door.ts";
import { listenKeeper } from "../keeper/process.ts";
import { type OfFeatures, openKeeper } from "../run/keeper.ts";
import type { KeeperSettings } from "../keeper/settings.ts";
import type { AdminSettings } from "../operator/settings.ts";
import { built, type FromWorker, HEARTBEAT_MS, KEEPER_SETTINGS, type ToWorker, WAITS } from "./worker.ts";

/** Interval at which a keeper without a supervisor looks whether a worker is still connected. Milliseconds. */
const LOOK_MS = 100;

/** @param own what features add to books and admin API @param args the path of the socket; the environment has {@link KeeperSettings} as JSON */
export async function runKeeper([socket = ""]: readonly string[], own: OfFeatures): Promise<void> {
  const settings = JSON.parse(process.env[KEEPER_SETTINGS] ?? "{}") as KeeperSettings;
  delete process.env[KEEPER_SETTINGS];
  // Signals may reach the whole process group. Workers still store answers while they drain, so the supervisor ends the keeper.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(name, () => {});
  const send = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  let door: Door | undefined;
  if (process.env[WAITS] !== undefined) {
    // They take most of the time of a start.
    await own.tables();
    door = settings.admin?.follows ? await follow(settings.admin) : undefined;
    await built(send);
    if (!process.connected) return exitProcess(0);
  }
  const keeper = await listenKeeper(socket, settings, openKeeper(settings, true, own, door));
  let isEnding = false;
  const end = (how: "close" | "pass" = "close") => {
    if (isEnding) return;
    isEnding = true;
    void keeper[how]().finally(() => exitProcess(0));
  };
  const endAfterWorkers = () => setInterval(() => keeper.connections === 0 && end(), LOOK_MS);
  process.on("message", ({ kind }: ToWorker) => {
    if (kind === "stop") end();
    if (kind === "pass") end("pass");
    if (kind === "share") void keeper.share().catch(() => {});
  });
  process.on("disconnect", endAfterWorkers);
  if (!process.connected) endAfterWorkers();
  send({ kind: "ready", table: "" });
  shrinkAfterStart();
  setInterval(() => send({ kind: "alive" }), HEARTBEAT_MS);
}

/** Listens where the keeper before this one does. @returns nothing where that one does not share its address */
async function follow(settings: AdminSettings): Promise<Door | undefined> {
  try {
    const door = new Door(settings, true);
    // Else the system gives each of both a part of the connections, which is only less good.
    await steer(door.port, "spread", 1).catch(() => {});
    return door;
  } catch {
    return undefined;
  }
}
