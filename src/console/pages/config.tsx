/** The page Config. */
import { Page } from "../shell/page.tsx";

export function ConfigPage() {
  return <Page title="Config">{null}</Page>;
}
