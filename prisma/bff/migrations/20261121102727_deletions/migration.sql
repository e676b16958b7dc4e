-- CreateTable
CREATE TABLE "deletions" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "customer_id" UUID,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,
    "consents" TEXT NOT NULL DEFAULT '[]',
    "user_deleted" BOOLEAN NOT NULL DEFAULT false,
    "erased" TEXT NOT NULL DEFAULT '{}',

    CONSTRAINT "deletions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "deletions_customer_id_key" ON "deletions"("customer_id");

-- CreateIndex
CREATE INDEX "deletions_merchant_id_requested_at_id_idx" ON "deletions"("merchant_id", "requested_at", "id");

-- AddForeignKey
ALTER TABLE "deletions" ADD CONSTRAINT "deletions_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deletions" ADD CONSTRAINT "deletions_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Deletions that are under way.
INSERT INTO "deletions" ("id", "merchant_id", "customer_id", "requested_at")
SELECT gen_random_uuid(), "merchant_id", "id", now() FROM "customers" WHERE "status" = 'deleting';
