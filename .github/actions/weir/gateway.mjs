/** A gateway that runs for the job. */
import { spawn, spawnSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Time in which the gateway has to answer. Milliseconds. */
const START_MS = 60_000;
/** Longer than the grace period of 30 s in which running answers may finish. Milliseconds. */
const STOP_MS = 40_000;
const STEP_MS = 50;

const INSTALL = fileURLToPath(new URL("../../install.sh", import.meta.url));
const MANIFEST = new URL("../../../package.json", import.meta.url);

/**
 * Installs a release of the repository that this action is from.
 * @param {string} version empty for the version of this action
 * @param {string} folder
 * @returns {string} path of the executable
 */
export function install(version, folder) {
  const { env } = process;
  const wanted = version || JSON.parse(readFileSync(MANIFEST, "utf8")).version;
  const repository = env.GITHUB_ACTION_REPOSITORY || env.GITHUB_REPOSITORY;
  const releases = `${env.GITHUB_SERVER_URL ?? "https://github.com"}/${repository}/releases/download`;
  const ran = spawnSync("sh", [INSTALL, "--version", wanted, "--dir", folder], {
    env: { WEIR_DOWNLOAD_URL: `${releases}/v${wanted.replace(/^v/, "")}`, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (ran.status !== 0)
    throw new Error(`Version ${wanted} of weir could not be installed; the log tells why.`);
  return join(folder, "weir");
}

/**
 * Starts the gateway and waits until it answers.
 * @param {string} program path of the executable
 * @param {readonly string[]} args
 * @param {string} log path of the file for everything that it prints
 * @returns {Promise<{ pid: number, url: string }>}
 */
export async function start(program, args, log) {
  const output = openSync(log, "w");
  // Detached, because the runner ends this process before the next step.
  const child = spawn(program, args, { detached: true, stdio: ["ignore", output, output] });
  let ended = "";
  child.on("error", (cause) => (ended = String(cause)));
  child.on("exit", (code) => (ended ||= `weir ended with exit code ${code}`));
  for (const until = Date.now() + START_MS; Date.now() < until && !ended; await sleep(STEP_MS)) {
    const url = /listening on (https?:\/\/\S+)/.exec(readFileSync(log, "utf8"))?.[1];
    if (url && (await answers(url))) {
      child.unref();
      return { pid: child.pid ?? 0, url };
    }
  }
  child.kill("SIGKILL");
  throw new Error(
    `${ended || `weir did not answer within ${START_MS / 1000} s`}:\n${readFileSync(log, "utf8")}`,
  );
}

/** @param {string} url */
async function answers(url) {
  return fetch(`${url}/health`, { signal: AbortSignal.timeout(START_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Stops the gateway. @param {number} pid @returns {Promise<boolean>} whether it was still running */
export async function stop(pid) {
  if (!isRunning(pid)) return false;
  process.kill(pid, "SIGTERM");
  for (const until = Date.now() + STOP_MS; Date.now() < until; await sleep(STEP_MS))
    if (!isRunning(pid)) return true;
  process.kill(pid, "SIGKILL");
  return true;
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // A container may have no process that collects ended ones.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}
