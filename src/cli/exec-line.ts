/** What `weir exec` says before the client starts. */
import type { KnownClient } from "./clients/index.ts";
import { nameOf } from "./clients/index.ts";

/** @param command as the user wrote it */
export function describeClient(command: readonly string[], client: KnownClient | undefined): string {
  return client?.name ?? nameOf(command[0] ?? "");
}

/** @param model the one that the user named */
export function describeModel(model: string | undefined): string {
  return model === undefined ? "it chooses the model" : `model ${model}`;
}
