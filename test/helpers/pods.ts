/** Pods of the plain manifests on this machine: the container's command as rendered, in a network of its own where that is allowed. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse as parseYaml, stringify } from "yaml";
import { PROGRAM } from "./command.ts";
import { TARGET } from "./gateway.ts";
import { type LocalPod, localPod, ofKind, type Resource } from "./manifests.ts";
import type { Machine } from "./namespaces.ts";
import { freePort, until } from "./serving.ts";

export interface Pod extends LocalPod {
  /** Base URL of the gateway, as the endpoints of the service have it. */
  url: string;
  /** Base URL of the admin API. */
  admin: string;
  log: string[];
  /** Process id of the first process of the container. */
  pid: number;
  /** It runs as the user of the container on a root that it cannot write to; else as who runs the tests. */
  isConfined: boolean;
  exited: Promise<number>;
  /** SIGTERM, and SIGKILL when the pod's time is over, as the kubelet does it. @returns whether it ended by itself, and after how long */
  terminate(): Promise<{ code: number; ms: number }>;
  /** Resolves when `/health` answers 200, as the probes ask. @throws Error with the log if the startup probe gives up */
  ready(): Promise<void>;
  end(): Promise<void>;
}

export interface PodOptions {
  resources: readonly Resource[];
  /** Where it runs. */
  machine: Machine;
  /** Whether it has a network of its own, so that its ports are free. */
  isSeparate: boolean;
  secrets: Record<string, string>;
  /** Members of weir.yaml that the operator adds. */
  config?: Record<string, unknown>;
  /** A folder that the user of the container can enter. */
  root: string;
}

/** Whether it can run as the user of the image, on a root that it cannot write to. */
const canConfine = TARGET === "binary" && process.getuid?.() === 0 && Bun.which("setpriv") !== null;

export function startPod({ resources, machine, isSeparate, secrets, config, root }: PodOptions): Pod {
  const folder = mkdtempSync(join(root, "pod-"));
  chmodSync(folder, 0o755);
  const spec = ofKind(resources, "Deployment").spec.template.spec;
  const [container] = spec.containers;
  const ports = isSeparate ? { http: 9347, admin: 9348 } : { http: freePort(), admin: freePort() };
  const { runAsUser: user, runAsGroup: group, fsGroup } = spec.securityContext;
  const change = (text: string) => {
    const value = { ...(parseYaml(text) as Record<string, any>), ...config };
    return stringify({ ...value, port: ports.http, admin: { ...value["admin"], port: ports.admin } });
  };
  const pod = localPod(resources, folder, secrets, {
    change,
    ...(canConfine && { group: fsGroup as number }),
  });
  const [data, tmp] = [join(folder, "data"), join(folder, "tmp")];
  if (canConfine) Bun.spawnSync(["chown", "-R", `${user}:${group}`, data, tmp]);
  const program = [...PROGRAM, ...pod.args];
  // Mounts of their own stay writable when the root is not.
  const confined = [
    ...["unshare", "--mount", "sh", "-ec"],
    `mount --bind "$0" "$0" && mount --bind "$1" "$1" && mount -o remount,bind,ro / && shift && exec "$@"`,
    ...[data, tmp, "setpriv", `--reuid=${user}`, `--regid=${group}`, `--groups=${fsGroup}`, "--no-new-privs"],
    ...["--bounding-set=-all", "--", ...program],
  ];
  const child = Bun.spawn([...machine.command, ...(canConfine ? confined : program)], {
    cwd: folder,
    // What a container has: nothing of the environment of this process but the search path.
    env: { PATH: process.env["PATH"] ?? "", HOME: data, ...pod.env, TMPDIR: tmp },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr]) void readInto(stream, log);
  const url = `http://${machine.address}:${ports.http}`;
  return {
    ...pod,
    ...{
      url,
      admin: `http://${machine.address}:${ports.admin}`,
      log,
      pid: child.pid,
      isConfined: canConfine,
      exited: child.exited,
    },
    async ready() {
      const { periodSeconds, failureThreshold, httpGet } = container.startupProbe;
      const asks = async () => (await fetch(url + httpGet.path).catch(() => undefined))?.status === 200;
      // Another program may answer at the address.
      const listens = () => log.some((line) => line.includes("listening on"));
      const isReady = await until(
        async () => child.exitCode !== null || (listens() && (await asks())),
        periodSeconds * failureThreshold * 1_000,
      );
      if (!isReady || child.exitCode !== null) throw new Error(`The pod is not ready:\n${log.join("\n")}`);
    },
    async terminate() {
      const began = performance.now();
      child.kill("SIGTERM");
      const timer = setTimeout(
        () => process.kill(-child.pid, "SIGKILL"),
        spec.terminationGracePeriodSeconds * 1_000,
      );
      const code = await child.exited;
      clearTimeout(timer);
      return { code, ms: performance.now() - began };
    },
    async end() {
      if (child.exitCode === null) process.kill(-child.pid, "SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readInto(stream: ReadableStream<Uint8Array>, log: string[]): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(
    new TextDecoderStream() as never,
  ) as unknown as AsyncIterable<string>) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    log.push(...lines);
  }
}

/** A folder for pods, which their user can enter. */
export function podsRoot(): string {
  mkdirSync("/var/tmp", { recursive: true });
  const root = mkdtempSync("/var/tmp/weir-pods-");
  chmodSync(root, 0o755);
  return root;
}
