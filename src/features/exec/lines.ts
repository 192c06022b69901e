/** The lines of `weir exec` before the client starts, and after it has ended. */
import type { KnownClient } from "../../cli/clients/index.ts";
import { nameOf } from "../../cli/clients/index.ts";

/** @param command as the user wrote it */
export function describeClient(command: readonly string[], client: KnownClient | undefined): string {
  return client?.name ?? nameOf(command[0] ?? "");
}

/** @param model the one that the user named */
export function describeModel(model: string | undefined): string {
  return model === undefined ? "it chooses the model" : `model ${model}`;
}

/** Exit codes for a command that was not run. */
const NOT_RUN = [126, 127];

/**
 * The line for a client that has ended and sent nothing; undefined if it was not run.
 * @param url of a gateway that is still there
 */
export function describeSilence(
  client: string,
  code: number,
  url = "http://127.0.0.1:9347",
): string | undefined {
  if (NOT_RUN.includes(code)) return undefined;
  return `weir: no request of ${client} reached weir, so it asked another address or none; start weir and write the base URL ${url}/v1 (of Anthropic's format: ${url}) and a key into the config of ${client}`;
}
