import { DateTime, Nested, Text } from '../field.js';

export class Categorisation {
  @Text({ optional: true, array: true }) categories?: string[];
  @Text({ optional: true }) source?: string;
}

export class TransactionHash {
  @Text({ optional: true }) hash?: string;
}

export class EnrichmentMerchant {
  @Text({ optional: true }) merchantName?: string;
  @Text({ optional: true }) parentGroup?: string;
}

export class Enrichment {
  @Nested(() => Categorisation, { optional: true }) categorisation?: Categorisation;
  @Nested(() => TransactionHash, { optional: true }) transactionHash?: TransactionHash;
  @Text({ optional: true }) cleansedDescription?: string;
  @Nested(() => EnrichmentMerchant, { optional: true }) merchant?: EnrichmentMerchant;
  @Text({ optional: true }) location?: string;
  @Text({ optional: true }) paymentProcessor?: string;
  @DateTime({ optional: true }) correctedDate?: string;
}
