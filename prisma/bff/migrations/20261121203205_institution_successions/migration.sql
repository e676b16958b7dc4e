-- CreateTable
CREATE TABLE "institution_successions" (
    "institution_id" TEXT NOT NULL,
    "successor_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "institution_successions_pkey" PRIMARY KEY ("institution_id")
);

-- CreateIndex
CREATE INDEX "institution_successions_successor_id_idx" ON "institution_successions"("successor_id");
