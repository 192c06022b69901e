/** A key, shown once: after it was made or rotated. The dialog closes only when the key was copied or selected. */
import { useState } from "preact/hooks";
import { session } from "../../data/session.ts";
import type { CreatedKey } from "../../data/types.ts";
import { Button, copy, CopyLine } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { maskOf } from "./key-words.ts";

interface Props {
  created: CreatedKey;
  /** It is the first key for calls: from now on every call needs one. */
  closes: boolean;
  onClose: () => void;
}

export function SecretDialog({ created, closes, onClose }: Props) {
  const [isKept, setKept] = useState(false);
  const { key, secret } = created;
  const kept = () => setKept(true);
  const copyKey = async () => {
    if (await copy(secret, "Key")) kept();
  };
  const onSelect = () => {
    if (getSelection()?.toString().includes(secret)) kept();
  };
  const mask = key.hint ?? maskOf(secret);
  return (
    <Dialog label={`The key ${key.name}`} fixed={!isKept} onClose={onClose}>
      <div class="in" onMouseUp={onSelect} onKeyUp={onSelect}>
        <h2>{key.name}</h2>
        <p>
          This is the only time the key is shown. Only its SHA-256 is kept; it cannot be read back, only
          rotated.
        </p>
        <div class="secret">
          <code tabIndex={0}>{secret}</code>
          <Button icon="copy" data-first onClick={() => void copyKey()}>
            Copy
          </Button>
        </div>
        {key.kind === "call" && <ShellLines secret={secret} mask={mask} onCopy={kept} />}
        <p class="mid">
          From now on it is called <code>{mask}</code> and <code>{key.id}</code>.
        </p>
        {closes && (
          <div class="note warn">
            <span>
              <b>Every call needs a key from now on.</b> Calls without one are refused.
            </span>
          </div>
        )}
        <div class="end">
          {!isKept && <span class="dim">Copy it first.</span>}
          <Button kind="main" why={isKept ? undefined : "Copy or select the key first."} onClick={onClose}>
            I have stored it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Two lines for the shell: with the key masked on the screen, and whole on the clipboard. */
function ShellLines({ secret, mask, onCopy }: { secret: string; mask: string; onCopy: () => void }) {
  const gateway = session.value?.gateway ?? "http://127.0.0.1:9347";
  const lines = (key: string) => `export OPENAI_BASE_URL=${gateway}/v1\nexport OPENAI_API_KEY=${key}`;
  return (
    <CopyLine text={lines(secret)} shown={lines(mask)} label="two lines for the shell" onCopy={onCopy} />
  );
}
