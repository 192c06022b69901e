/** The way in: over the page while the console has no valid session. Afterwards one is where one was. */
import { useState } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { linkFault, session, signIn } from "../data/session.ts";
import { Button, CopyLine, Fault, Field } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Logo } from "../parts/icons.tsx";

export function SignIn() {
  const [key, setKey] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const wasIn = session.value !== undefined;
  const enter = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      const token = /#t=([\w-]+)/.exec(key)?.[1];
      await signIn(token === undefined ? { key: key.trim() } : { token });
    } catch (cause) {
      setFault(cause instanceof ApiError ? cause.message : String(cause));
    }
    setBusy(false);
  };
  const shown = (fault ?? linkFault.value)?.replaceAll("`", "");
  return (
    <Dialog label="Sign in" fixed class={wasIn ? "sign-in" : "sign-in alone"} onClose={() => undefined}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "" && !busy) void enter();
        }}
      >
        <div class="brand">
          <Logo size={20} />
          weir
          <span class="where">{location.host}</span>
        </div>
        {wasIn && (
          <p>
            <b>You are signed out.</b> The page stays as it is; sign in to go on.
          </p>
        )}
        <Field label="Key or sign-in link">
          <input
            class="input mono"
            type="password"
            autoComplete="off"
            spellcheck={false}
            placeholder="weir_ad_…, weir_ro_… or http://…#t=…"
            value={key}
            aria-invalid={fault !== undefined}
            onInput={(event) => setKey(event.currentTarget.value)}
            data-first
          />
        </Field>
        <Fault of={shown} />
        <Button kind="main" type="submit" disabled={key.trim() === "" || busy}>
          Sign in
        </Button>
        <p class="mid">Without a key, make a link on the machine of weir:</p>
        <CopyLine text="weir console" label="the command" />
      </form>
    </Dialog>
  );
}
