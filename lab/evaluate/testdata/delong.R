# Prints the comparison of two made scores by pROC. The same rule is in delong_test.go.
library(pROC)
i <- 0:199
positive <- (i * 7) %% 20 < 7
a <- (i * 37) %% 101 + 25 * positive
b <- (i * 53) %% 89 %/% 4 + 3 * positive
r <- roc.test(roc(positive, a, direction = "<", quiet = TRUE),
              roc(positive, b, direction = "<", quiet = TRUE), method = "delong", paired = TRUE)
cat(R.version.string, "\npROC", as.character(packageVersion("pROC")), "\n")
cat(format(c(r$estimate, r$statistic, r$p.value, r$conf.int), digits = 15), "\n")
