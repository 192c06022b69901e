/** The page Providers. */
import { Page } from "../shell/page.tsx";

export function ProvidersPage() {
  return <Page title="Providers">{null}</Page>;
}
