/** Who is signed in, where calls go, and the way out. */
import { useState } from "preact/hooks";
import { ApiError, send, signedOut } from "../data/api.ts";
import { session } from "../data/session.ts";
import { Button, copy, Fault } from "../parts/controls.tsx";

/** @throws ApiError */
export async function signOut(): Promise<void> {
  await send("DELETE", "/session");
  session.value = undefined;
  signedOut.value = true;
}

export function Who() {
  const [fault, setFault] = useState<string>();
  const who = session.value;
  if (!who) return null;
  const { name, actor, role, path, gateway, version } = who;
  const leave = async () => {
    try {
      await signOut();
    } catch (cause) {
      setFault(cause instanceof ApiError ? cause.message : String(cause));
    }
  };
  return (
    <div class="who">
      {gateway !== undefined && (
        <button
          type="button"
          class="addr"
          title="Clients call this address. Copy it."
          aria-label={`Copy the address for clients, ${gateway}`}
          onClick={() => void copy(gateway, "The address")}
        >
          {gateway.replace(/^https?:\/\//, "")}
        </button>
      )}
      <span class="dim">weir {version}</span>
      <p>
        Signed in as <b>{name ?? actor}</b>{" "}
        <span class="dim">
          ({role === "read" ? "reads" : "changes"} {path})
        </span>
      </p>
      <Fault of={fault} />
      <Button kind="quiet" onClick={() => void leave()}>
        Sign out
      </Button>
    </div>
  );
}
