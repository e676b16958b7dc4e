-- AlterTable
ALTER TABLE "changes" ADD COLUMN     "wire" TEXT;

-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "apart_from" UUID[] DEFAULT ARRAY[]::UUID[],
ADD COLUMN     "dismissed" TEXT,
ADD COLUMN     "joined_into" UUID,
ADD COLUMN     "reference" TEXT;

-- CreateTable
-- Only there while an answer is read; a crash begins again anyway.
CREATE UNLOGGED TABLE "staged_rows" (
    "answer_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "new_id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "status" TEXT NOT NULL,
    "booked_at" TIMESTAMPTZ(3),
    "value_at" TIMESTAMPTZ(3),
    "amount" DECIMAL(24,6),
    "amount_minor" BIGINT,
    "currency" TEXT,
    "description" TEXT,
    "bank_id" TEXT,
    "reference" TEXT,
    "fingerprint" TEXT NOT NULL,
    "body" TEXT NOT NULL,

    CONSTRAINT "staged_rows_pkey" PRIMARY KEY ("account_id","answer_id","ordinal")
);

-- CreateTable
CREATE TABLE "institution_policies" (
    "institution_id" TEXT NOT NULL,
    "evidence" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "institution_policies_pkey" PRIMARY KEY ("institution_id")
);

-- CreateTable
CREATE TABLE "balance_proofs" (
    "account_id" UUID NOT NULL,
    "basis" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "sign" INTEGER NOT NULL,
    "proven_from" TIMESTAMPTZ(3),
    "opening" DECIMAL(24,6) NOT NULL,
    "difference" DECIMAL(24,6) NOT NULL,
    "candidates" TEXT NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "balance_proofs_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "transactions_account_id_fingerprint_idx" ON "transactions"("account_id", "fingerprint");

-- AddForeignKey
ALTER TABLE "balance_proofs" ADD CONSTRAINT "balance_proofs_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The text of a change was kept inside its payload.
UPDATE "changes" c SET "wire" = t."wire" FROM "transactions" t WHERE t."id" = c."transaction_id" AND t."sequence" = c."sequence";
