/**
 * What an account may have (sessions and passkeys: one user), and what to do when there is no room left. `--quota`
 * changes the numbers. Keep the table in docs/dns-service.md the same.
 */
export const quotas = {
  tokens: { most: 1_000, what: "tokens in force", todo: "revoke those that nobody uses" },
  zones: { most: 10_000, what: "zones", todo: "delete those that nobody uses" },
  "transfer-keys": { most: 100, what: "transfer keys in force", todo: "revoke those that nobody uses" },
  providers: { most: 100, what: "providers", todo: "remove those that no zone is published with" },
  webhooks: { most: 100, what: "webhooks", todo: "combine those with the same URL" },
  passkeys: { most: 20, what: "passkeys", todo: "remove those of devices that you no longer use" },
  sessions: { most: 50, what: "sessions", todo: "the one that was not used for longest ends" },
} as const;

export type QuotaName = keyof typeof quotas;
export type Quotas = Readonly<Record<QuotaName, number>>;

export const quotaNames = Object.keys(quotas) as readonly QuotaName[];

export const usualQuotas = Object.fromEntries(quotaNames.map((name) => [name, quotas[name].most])) as Quotas;

export const overQuotaText = (name: QuotaName, most: number): string =>
  `an account may have at most ${most} ${quotas[name].what}; ${quotas[name].todo}, ` +
  `or ask the operator of this service for more (--quota ${name}=NUMBER)`;
