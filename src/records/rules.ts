import { type AcmeChallenge, acmeChallengeRule } from "./commands/acme-proof.ts";
import {
  type CreateRecord,
  createRecordRule,
  type DeleteRecord,
  deleteRecordRule,
  type ReplaceRecord,
  replaceRecordRule,
} from "./commands/edit-record.ts";
import {
  type CreateRecords,
  createRecordsRule,
  type ReplaceRecords,
  replaceRecordsRule,
} from "./commands/edit-records.ts";
import { type EditSet, editSetRule } from "./commands/edit-set.ts";
import { dnsUpdateRule, type UpdateByDns } from "./commands/from-dns-update.ts";
import { type Transfer, transferRule } from "./commands/from-transfer.ts";
import { type PointHosts, pointHostsRule } from "./commands/point-hosts.ts";
import { type RaiseSerial, raiseSerialRule } from "./commands/raise-serial.ts";
import { type ChangeSets, changeSetsRule } from "./commands/set-changes.ts";
import { type UndoChanges, undoChangesRule } from "./commands/undo.ts";
import { type EarlierAnswer, earlierAnswerRule } from "./commands/write.ts";
import {
  type CreateZone,
  type CreateZoneAction,
  createZoneActionRule,
  createZoneRule,
  type DeleteZone,
  deleteZoneRule,
} from "./commands/zones/create-delete.ts";
import { type ImportFile, importFileRule } from "./commands/zones/import-file.ts";
import { type EditSettings, editSettingsRule } from "./commands/zones/settings.ts";
import { type PublishZone, publishZoneRule } from "./front/publish-rule.ts";
import { type ChangeSigning, changeSigningRule } from "./signing/lifecycle/change-signing.ts";
import { type RenewNames, renewNamesRule } from "./signing/lifecycle/renew.ts";
import type { Command, Rule, RuleOf } from "./store/port.ts";

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
  | UndoChanges
  | EarlierAnswer
  | CreateZone
  | CreateZoneAction
  | DeleteZone
  | EditSettings
  | ImportFile
  | RaiseSerial
  | ChangeSigning
  | RenewNames
  | AcmeChallenge
  | Transfer
  | PublishZone;

type Rules = { readonly [Kind in AnyCommand["kind"]]: (command: Extract<AnyCommand, { kind: Kind }>) => Rule };

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
  "undo-changes": undoChangesRule,
  "earlier-answer": earlierAnswerRule,
  "create-zone": createZoneRule,
  "create-zone-action": createZoneActionRule,
  "delete-zone": deleteZoneRule,
  "edit-settings": editSettingsRule,
  "import-file": importFileRule,
  "raise-serial": raiseSerialRule,
  "change-signing": changeSigningRule,
  "renew-names": renewNamesRule,
  "acme-challenge": acmeChallengeRule,
  transfer: transferRule,
  "publish-zone": publishZoneRule,
};

/** What each command means. In the thread that writes, this is the whole service. */
export const ruleOf: RuleOf = (command: Command): Rule => {
  const rule = rules[command.kind as AnyCommand["kind"]] as (command: Command) => Rule;
  return rule(command);
};
