/** Claims as identity providers write them, by their documentation. The options of weir for them are in ../../vendors.md. */

interface Vendor {
  /** Its heading in the document. */
  readonly heading: string;
  readonly name: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** What weir makes of it. */
  readonly expected: { path: string; name: string; client?: string };
}

export const VENDORS: readonly Vendor[] = [
  {
    heading: "Entra",
    name: "Entra, access token of version 2",
    claims: {
      ...{
        aud: "11111111-2222-3333-4444-555555555555",
        azp: "aaaaaaaa-0000-0000-0000-000000000001",
        azpacr: "1",
      },
      ...{
        name: "Alice Miller",
        oid: "00000000-aaaa-bbbb-cccc-000000000001",
        preferred_username: "alice@corp.example",
      },
      ...{
        rh: "0.AX",
        roles: ["llm-users"],
        scp: "access_as_user",
        sub: "pairwise-per-application",
        ver: "2.0",
      },
      ...{ tid: "99999999-8888-7777-6666-555555555555", uti: "u1" },
    },
    expected: {
      path: "/people/alice@corp.example",
      name: "Alice Miller",
      client: "aaaaaaaa-0000-0000-0000-000000000001",
    },
  },
  {
    heading: "Okta",
    name: "Okta, custom authorization server",
    claims: {
      ...{
        ver: 1,
        jti: "AT.x1",
        aud: "api://weir",
        cid: "0oa1client",
        uid: "00u1user",
        scp: ["openid", "profile"],
      },
      ...{
        auth_time: 1_700_000_000,
        sub: "alice@corp.example",
        email: "Alice@corp.example",
        groups: ["Everyone", "team-search"],
      },
    },
    expected: { path: "/people/alice", name: "Alice@corp.example", client: "0oa1client" },
  },
  {
    heading: "Google",
    name: "Google, ID token of a service account",
    claims: {
      ...{ aud: "https://weir.corp.example", azp: "108200000000000000001", sub: "108200000000000000001" },
      ...{ email: "ci@corp.example", email_verified: true, hd: "corp.example" },
    },
    expected: { path: "/people/ci", name: "ci@corp.example", client: "108200000000000000001" },
  },
  {
    heading: "Keycloak",
    name: "Keycloak, access token",
    claims: {
      ...{
        aud: ["account", "weir"],
        azp: "weir-cli",
        typ: "Bearer",
        sid: "s1",
        acr: "1",
        scope: "email profile",
      },
      ...{ sub: "f3b0-1", preferred_username: "alice", name: "Alice Miller", email_verified: false },
      realm_access: { roles: ["offline_access", "llm-search", "uma_authorization"] },
      resource_access: { account: { roles: ["view-profile"] } },
    },
    expected: { path: "/people/alice", name: "Alice Miller", client: "weir-cli" },
  },
  {
    heading: "Auth0",
    name: "Auth0, access token with a trailing slash",
    claims: {
      ...{
        aud: ["https://weir.corp.example/api", "https://corp.eu.auth0.com/userinfo"],
        azp: "client1",
        gty: "password",
      },
      ...{ sub: "auth0|5f7c8ec7", scope: "openid profile" },
      ...{ "https://corp.example/roles": ["writers"], "https://corp.example/handle": "alice" },
    },
    header: { typ: "at+jwt" },
    expected: { path: "/people/alice", name: "auth0|5f7c8ec7", client: "client1" },
  },
  {
    heading: "GitHub Actions",
    name: "GitHub Actions",
    claims: {
      ...{
        jti: "j1",
        sub: "repo:corp/app:ref:refs/heads/main",
        aud: "weir",
        ref: "refs/heads/main",
        sha: "a".repeat(40),
      },
      ...{
        repository: "corp/app",
        repository_owner: "corp",
        repository_owner_id: "1",
        run_id: "7",
        actor: "octocat",
      },
      ...{
        workflow: "ci",
        job_workflow_ref: "corp/app/.github/workflows/ci.yml@refs/heads/main",
        environment: "prod",
      },
    },
    header: { x5t: "thumbprint" },
    expected: { path: "/ci/corp_app", name: "repo:corp/app:ref:refs/heads/main" },
  },
  {
    heading: "GitLab",
    name: "GitLab, id_tokens",
    claims: {
      ...{
        sub: "project_path:corp/app:ref_type:branch:ref:main",
        aud: "weir",
        namespace_path: "corp",
        project_path: "corp/app",
      },
      ...{ user_login: "alice", pipeline_source: "push", ref: "main", ref_protected: "true", jti: "g1" },
    },
    expected: { path: "/ci/corp_app", name: "project_path:corp/app:ref_type:branch:ref:main" },
  },
  {
    heading: "Kubernetes",
    name: "Kubernetes, projected token",
    claims: {
      ...{ aud: ["weir"], sub: "system:serviceaccount:shop:worker" },
      "kubernetes.io": {
        namespace: "shop",
        node: { name: "n1", uid: "u1" },
        pod: { name: "worker-1", uid: "u2" },
        serviceaccount: { name: "worker", uid: "u3" },
      },
    },
    header: { typ: undefined },
    expected: { path: "/k8s/shop/worker", name: "system:serviceaccount:shop:worker" },
  },
];
