/** The dialog with the keys. */
import { Button } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { KEYS } from "./keyboard.ts";
import { overlay } from "./shortcuts.ts";

export function Help() {
  const close = () => {
    overlay.value = undefined;
  };
  return (
    <Dialog label="Keyboard" onClose={close}>
      <div class="in">
        <h2>Keyboard</h2>
        <dl class="facts">
          {KEYS.map(([keys, meaning]) => (
            <>
              <dt>
                {keys.split("  ").map((key) => (
                  <>
                    <kbd>{key}</kbd>{" "}
                  </>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
        <div class="end">
          <Button data-first onClick={close}>
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
