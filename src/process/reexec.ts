/**
 * Replaces the process once at its start, where that is necessary. Bun reads its limits and its `BUN_*` switches from the
 * environment before any code runs. So the only way to raise the limit of 256 concurrent requests of `fetch`, and to ignore
 * variables that inject code, is to execute the program again with a clean environment. The process id stays the same; it
 * takes some milliseconds, so a process without such variables, proxy and external plugins is not replaced: weir's own HTTP
 * client has no such limit.
 */
import { scriptArgs } from "./program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The limit of concurrent requests of `fetch`. */
const LIMIT = "BUN_CONFIG_MAX_HTTP_REQUESTS";

/** Its raised value, the maximum that Bun accepts. */
const MAX_REQUESTS = "65336";

/** Variables that make the runtime load code, print headers or change its limits. weir removes them. */
const INJECTING = /^(BUN_.*|NODE_OPTIONS|NODE_TLS_REJECT_UNAUTHORIZED)$/;

/** Variables with a proxy. */
const PROXY = /^(https?|all)_proxy$/i;

/** The clean environment of the gateway. */
export function cleanEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !INJECTING.test(name));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    ...loopbackDirect(env),
    [LIMIT]: MAX_REQUESTS,
  };
}

/** Excludes loopback addresses from the proxy. Without this, Bun sends them through it too. */
function loopbackDirect(env: Environment): Record<string, string> {
  if (!hasProxy(env)) return {};
  const given = env["NO_PROXY"] ?? env["no_proxy"];
  if (given?.includes("127.0.0.1")) return {};
  return { NO_PROXY: [given, "localhost,127.0.0.1,::1"].filter(Boolean).join(",") };
}

function hasProxy(env: Environment): boolean {
  return Object.keys(env).some((name) => PROXY.test(name) && env[name]);
}

/**
 * Whether the process must be replaced before it does anything: its environment contains variables that weir removes, or a
 * proxy. weir sends requests through a proxy with `fetch`.
 */
export function mustReplace(env: Environment): boolean {
  const removed = namesOf(env).some(
    (name) => INJECTING.test(name) && !(name === LIMIT && !isFetchLimited(env)),
  );
  return removed || (hasProxy(env) && !isClean(env));
}

/** Whether `fetch` runs at most 256 requests at once in this process. */
export function isFetchLimited(env: Environment): boolean {
  return env[LIMIT] !== MAX_REQUESTS;
}

/** Whether re-executing in a clean environment would change nothing. */
function isClean(env: Environment): boolean {
  const clean = cleanEnvironment(env);
  const names = namesOf(env);
  return names.length === Object.keys(clean).length && names.every((name) => env[name] === clean[name]);
}

function namesOf(env: Environment): string[] {
  return Object.keys(env).filter((name) => env[name] !== undefined);
}

/** Re-executes the program in a clean environment. Returns only if the environment is already clean. */
export function replaceProcess(): void {
  if (isClean(process.env)) return;
  const env = cleanEnvironment(process.env);
  const args = [...scriptArgs(), ...process.argv.slice(2)];
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(process.execPath, [process.execPath, ...args], env);
  }
  const child = Bun.spawnSync([process.execPath, ...args], { env, stdio: ["inherit", "inherit", "inherit"] });
  process.exit(child.exitCode ?? 1);
}
