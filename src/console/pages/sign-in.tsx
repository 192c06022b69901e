/** The way in: over the page while the console has no valid cookie. */
import { Dialog } from "../parts/dialog.tsx";

export function SignIn() {
  return (
    <Dialog label="Sign in" fixed onClose={() => undefined}>
      <div class="in">
        <h2>Sign in</h2>
      </div>
    </Dialog>
  );
}
