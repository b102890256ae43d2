module clusterd

go 1.19
