/** People who are signed in with a browser. */

/** @param to path of weir to which a browser comes back that has to sign in @throws GatewayError while it cannot be found out */
export type FindBrowser = (request: Request, to: string) => Promise<BrowserUser>;

/** Whose browser asks, or where it signs in. */
export type BrowserUser =
  | {
      /** Permanent id, as in {@link Principal.person}. */
      readonly person: string;
      readonly name: string;
      /** A text that only this session has, for the forms of its pages. */
      readonly session: string;
    }
  | { readonly signIn: string };
