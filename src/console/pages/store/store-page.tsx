/** Store & audit: the proof of the books, the store, what was booked as assumed, and who did what. */
import type { getStore } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import { useApi } from "../../data/use-api.ts";
import { CapturedNow } from "../../parts/capture.tsx";
import { Button } from "../../parts/controls.tsx";
import { Page } from "../../shell/page.tsx";
import { AssumedPanel } from "./assumed.tsx";
import { BackupDialog, PruneDialog } from "./deeds.tsx";
import { LogPanel } from "./log.tsx";
import { ProofPanel } from "./proof.tsx";
import { StorePanel } from "./store-panel.tsx";

/** Milliseconds. */
const EVERY = 5_000;

export function StorePage() {
  const store = useApi<typeof getStore>("/store", { every: EVERY });
  const [deed, setDeed] = useState<"backup" | "prune" | undefined>(undefined);
  const [deeds, setDeeds] = useState(0);
  const close = () => setDeed(undefined);
  const done = () => {
    store.again();
    setDeeds(deeds + 1);
  };
  return (
    <Page
      title="Store & audit"
      right={
        <>
          <Button class="w3" kind="quiet" why={readOnly()} onClick={() => setDeed("prune")}>
            Delete old rows…
          </Button>
          <Button why={readOnly()} onClick={() => setDeed("backup")}>
            Back up…
          </Button>
        </>
      }
    >
      <ProofPanel />
      <div class="two">
        <StorePanel store={store} />
        <AssumedPanel />
      </div>
      <CapturedNow />
      <LogPanel key={deeds} />
      {deed === "backup" && store.data && <BackupDialog store={store.data} onClose={close} onDone={done} />}
      {deed === "prune" && store.data && <PruneDialog store={store.data} onClose={close} onDone={done} />}
    </Page>
  );
}
