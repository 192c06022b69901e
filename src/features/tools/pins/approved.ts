/** What is approved, where lists are made. */
import type { JsonObject } from "../../../core/json.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { type ApprovedPins, pinsOf, type ServerPins, shown } from "./compare.ts";
import type { PinMode } from "./declarations.ts";

export class Approved {
  #stored: ApprovedPins | undefined;
  /** Of servers whose first list the store does not have yet: what comes meanwhile is held to it. */
  readonly #first = new Map<string, ServerPins>();

  /** @param stored what the store has; undefined while that is not known */
  update(stored: ApprovedPins | undefined): void {
    this.#stored = stored ?? this.#stored;
    for (const server of Object.keys(this.#stored ?? {})) this.#first.delete(server);
  }

  /**
   * What clients may see of a list, and call.
   * @param definitions all that the server listed @throws McpError while it is not known what is approved
   */
  shown(server: string, definitions: readonly JsonObject[], mode: PinMode): readonly JsonObject[] {
    if (mode !== "approve") return definitions;
    if (!this.#stored)
      throw new McpError(
        CODE.unreachable,
        `server ${server} cannot be used: its approved tools are not known yet`,
        {
          data: { server },
        },
      );
    const pins = Object.hasOwn(this.#stored, server) ? this.#stored[server] : this.#first.get(server);
    if (!pins) this.#first.set(server, pinsOf(definitions));
    return shown(definitions, pins, mode);
  }
}
