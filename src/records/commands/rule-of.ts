import { type RenewNames, renewNamesRule } from "../signing/life/renew.ts";
import type { Command, Rule, RuleOf } from "../store/port.ts";
import {
  type CreateRecord,
  createRecordRule,
  type DeleteRecord,
  deleteRecordRule,
  type ReplaceRecord,
  replaceRecordRule,
} from "./edit-record.ts";
import { type CreateRecords, createRecordsRule, type ReplaceRecords, replaceRecordsRule } from "./edit-records.ts";
import { type EditSet, editSetRule } from "./edit-set.ts";
import { dnsUpdateRule, type UpdateByDns } from "./from-dns-update.ts";
import { type Transfer, transferRule } from "./from-transfer.ts";
import { type PointHosts, pointHostsRule } from "./point-hosts.ts";
import { type ChangeSets, changeSetsRule } from "./set-changes.ts";
import { type CreateZone, createZoneRule, type DeleteZone, deleteZoneRule } from "./zones/create-delete.ts";
import { type PatchSettings, patchSettingsRule } from "./zones/settings.ts";

type AnyCommand =
  | EditSet
  | ChangeSets
  | CreateRecord
  | ReplaceRecord
  | DeleteRecord
  | CreateRecords
  | ReplaceRecords
  | PointHosts
  | UpdateByDns
  | CreateZone
  | DeleteZone
  | PatchSettings
  | RenewNames
  | Transfer;

type Rules = { readonly [Kind in AnyCommand["kind"]]: (command: Extract<AnyCommand, { kind: Kind }>) => Rule<unknown> };

const rules: Rules = {
  "edit-set": editSetRule,
  "change-sets": changeSetsRule,
  "create-record": createRecordRule,
  "replace-record": replaceRecordRule,
  "delete-record": deleteRecordRule,
  "create-records": createRecordsRule,
  "replace-records": replaceRecordsRule,
  "point-hosts": pointHostsRule,
  "dns-update": dnsUpdateRule,
  "create-zone": createZoneRule,
  "delete-zone": deleteZoneRule,
  "patch-settings": patchSettingsRule,
  "renew-names": renewNamesRule,
  transfer: transferRule,
};

/** What each command means. In the thread that writes, this is the whole service. */
export const ruleOf: RuleOf = (command: Command): Rule<unknown> => {
  const rule = rules[command.kind as AnyCommand["kind"]] as (given: Command) => Rule<unknown>;
  return rule(command);
};
