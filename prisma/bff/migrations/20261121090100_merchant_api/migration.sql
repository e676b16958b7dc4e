-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "customers" ADD COLUMN     "erasure_lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "next_erasure_at" TIMESTAMPTZ(3),
ADD COLUMN     "status" TEXT NOT NULL DEFAULT 'active';

-- CreateTable
CREATE TABLE "balance_records" (
    "account_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "observed_at" TIMESTAMPTZ(3) NOT NULL,
    "amount" DECIMAL(24,6) NOT NULL,
    "currency" TEXT NOT NULL,

    CONSTRAINT "balance_records_pkey" PRIMARY KEY ("account_id","observed_at","type")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "work_id" UUID NOT NULL,
    "merchant_id" UUID,
    "customer_id" UUID,
    "request_hash" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "answer_status" INTEGER,
    "sealed_answer" TEXT,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key_hash")
);

-- CreateTable
CREATE TABLE "payment_records" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "institution_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "iso_status" TEXT,
    "amount" DECIMAL(24,6) NOT NULL,
    "currency" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "submitted_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_records_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_customer_id_idx" ON "idempotency_keys"("customer_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_merchant_id_idx" ON "idempotency_keys"("merchant_id");

-- CreateIndex
CREATE INDEX "payment_records_merchant_id_created_at_idx" ON "payment_records"("merchant_id", "created_at");

-- CreateIndex
CREATE INDEX "customers_merchant_id_created_at_id_idx" ON "customers"("merchant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "customers_next_erasure_at_idx" ON "customers"("next_erasure_at");

-- AddForeignKey
ALTER TABLE "balance_records" ADD CONSTRAINT "balance_records_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
