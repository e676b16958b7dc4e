import type { Institution } from '../connector.js';
import type { Access } from './uk-open-banking.access.js';
import type { UkOpenBankingApi } from './uk-open-banking.api.js';
import type { OpenId } from './uk-open-banking.openid.js';
import type { UkOpenBankingQuirks, Version } from './uk-open-banking.types.js';

/** What the operations are made of. */
export interface Parts {
  institution: Institution<'uk-open-banking'>;
  api: UkOpenBankingApi;
  openid: OpenId;
  access: Access;
  map: UkOpenBankingQuirks;
  now: () => Date;
  /** The version that new consents are made on. */
  version: Version;
}
