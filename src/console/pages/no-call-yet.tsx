/** What empty pages show before the first call: the command that makes one. */
import type { ComponentChildren } from "preact";
import type { Overview, overview } from "../data/types.ts";
import { session } from "../data/session.ts";
import { useApi } from "../data/use-api.ts";
import { CopyLine } from "../parts/controls.tsx";
import { Blank } from "../parts/states.tsx";
import { stepsOf } from "./first-steps.ts";

/** @returns the state of the gateway, if no call has ended yet */
export function useNoCallYet(): Overview | undefined {
  const { data } = useApi<typeof overview>("/overview");
  return data && !data.firstCall ? data : undefined;
}

/** @param props.children what is shown once there are calls */
export function NoCallYet({ children }: { children: ComponentChildren }) {
  const none = useNoCallYet();
  if (!none) return <>{children}</>;
  const gateway = none.gateway ?? session.value?.gateway ?? "http://127.0.0.1:9347";
  const [{ command } = { command: "" }] = stepsOf(gateway, none.open);
  return (
    <Blank title="No call yet." acts={<CopyLine text={command} label="the command" />}>
      This makes one{none.open ? "" : ", with the text of a key in WEIR_API_KEY"}:
    </Blank>
  );
}
