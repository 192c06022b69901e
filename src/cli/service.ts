/** The process of a feature, a child of the gateway or of its supervisor: its life from its own side. */
import { mkdirSync } from "node:fs";
import { endsWithin } from "../core/within.ts";
import { exitProcess } from "../process/exit.ts";
import { Groups } from "../service/groups.ts";
import { SERVICE_SETTINGS, type ServiceSettings, type ToOwner } from "../service/messages.ts";
import type { NamedService, ServiceHost } from "../service/seams.ts";
import { listenService } from "../service/server.ts";
import { type FromWorker, HEARTBEAT_MS, type ToWorker } from "./worker.ts";

/** Maximum time for the part to end what it has started. Shorter than the owner waits. Milliseconds. */
const CLOSE_MS = 6_000;

/**
 * @param args name of the feature, path of the socket; the environment has {@link ServiceSettings} as JSON
 * @param services those of this build
 */
export async function runService(
  [name = "", path = ""]: readonly string[],
  services: readonly NamedService[],
): Promise<void> {
  const { folder } = JSON.parse(process.env[SERVICE_SETTINGS] ?? "{}") as ServiceSettings;
  delete process.env[SERVICE_SETTINGS];
  // Signals may reach the whole process group, while workers still need the process for their calls: the owner ends it.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(signal, () => {});
  const send = (message: ToOwner | FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  const log = (level: "fault" | "info") => (text: string) => send({ kind: "log", level, text });
  const load = services.find((service) => service.name === name)?.load;
  if (!load) throw new Error(`this build has no process of a feature ${name}`);
  const groups = new Groups((id, runs) => send({ kind: "group", id, runs }));
  const host: ServiceHost = {
    folder() {
      if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    fault: log("fault"),
    info: log("info"),
    spawn: (command, options) => groups.spawn(command, options),
  };
  const part = (await load()).start(host);
  const socket = await listenService(path, part, log("fault"));
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    socket.refuse();
    await endsWithin(
      Promise.resolve(part.close?.()).catch(() => {}),
      CLOSE_MS,
    );
    groups.killAll();
    socket.close();
    exitProcess(0);
  };
  process.on("message", ({ kind }: ToWorker) => {
    if (kind === "stop") void end();
  });
  process.on("disconnect", end);
  if (!process.connected) void end();
  process.on("uncaughtException", (fault) => log("fault")(fault.stack ?? fault.message));
  process.on("unhandledRejection", (fault) => log("fault")(String(fault)));
  send({ kind: "ready", table: "" });
  setInterval(() => send({ kind: "alive" }), HEARTBEAT_MS);
}
